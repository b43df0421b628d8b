package main

import (
	"encoding/json"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// source is the Prometheus that whoever looks has picked at the top.
const source = "${source}"

// json is the board as Grafana imports it.
func (b board) json() ([]byte, error) {
	//nolint:staticcheck // the form that Grafana reads from files, and that every Grafana imports
	d := dashboard.NewDashboardBuilder(b.title).
		Uid(b.uid).
		Description(b.about).
		Tags([]string{"countersign"}).
		Timezone("utc"). // as the console
		Readonly().
		Refresh("30s").
		Time("now-6h", "now").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("source").Label("Prometheus").Type("prometheus"))
	for _, other := range boards() {
		if other.uid != b.uid {
			d.Link(dashboard.NewDashboardLinkBuilder(other.title).Type(dashboard.DashboardLinkTypeLink).Url("/d/" + other.uid).KeepTime(true))
		}
	}
	for _, r := range b.rows {
		d.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			d.WithPanel(p.build())
		}
	}
	built, err := d.Build()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(built, "", "  ")
	return append(text, '\n'), err
}

// build is the panel in Grafana's form.
func (p panel) build() cog.Builder[dashboard.Panel] {
	if p.kind == number {
		s := stat.NewPanelBuilder().Title(p.title).Description(p.about).Unit(p.unit).Height(4).Span(p.width).Datasource(prom()).
			NoValue("none").ColorMode(common.BigValueColorModeNone).GraphMode(common.BigValueGraphModeArea)
		for i, q := range p.queries {
			s.WithTarget(q.build(i))
		}
		return s
	}
	g := timeseries.NewPanelBuilder().Title(p.title).Description(p.about).Unit(p.unit).Height(8).Span(p.width).Datasource(prom()).
		Min(0).LineWidth(1).ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	if p.kind == stacked {
		g.FillOpacity(30).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	for i, q := range p.queries {
		g.WithTarget(q.build(i))
	}
	return g
}

// refs are the names of a panel's queries, a letter each.
const refs = "ABCDEFGH"

// build is the query in Grafana's form; i is its place in the panel.
func (q query) build(i int) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().Expr(q.expr).LegendFormat(q.legend).RefId(refs[i : i+1]).Range().Datasource(prom())
}

func prom() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new(source)}
}
