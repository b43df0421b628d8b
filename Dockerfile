# syntax=docker/dockerfile:1

# agentd in a container: the loop, the gate, the log and the console in one
# process. See docker-compose.yml for how to run it and how to reach it.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# SQLite is C: cgo stays on, and the runtime image below has the same libc.
RUN CGO_ENABLED=1 go build -tags sqlite_fts5 -trimpath -buildvcs=false -ldflags '-s -w' -o /out/agentd ./cmd/agentd

# Not a distroless image: the tool Bash needs a shell and the usual programs to
# be of use. Add what your own tools need in an image that starts FROM this one.
FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends bash ca-certificates curl \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --home-dir /home/countersign countersign \
 && install -d -o countersign -g countersign -m 0700 /data \
 && install -d -o countersign -g countersign /workspace
COPY --from=build /out/agentd /usr/local/bin/agentd

USER countersign
WORKDIR /home/countersign
# The journal and what is derived from it. Losing this volume loses the record.
ENV COUNTERSIGN_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD curl -fsS -o /dev/null http://127.0.0.1:8080/healthz
ENTRYPOINT ["agentd"]
CMD ["serve"]
