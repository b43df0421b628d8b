package generate

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// person is somebody in the log.
type person struct {
	id, name string
	groups   []string
	roles    []string
	// quick is how much faster than others they decide.
	quick float64
}

// actor is the person as the server knew them.
func (p person) actor(at time.Time) *events.Actor {
	return &events.Actor{Person: p.id, Credential: "session", Roles: p.roles, Groups: p.groups, Method: "session", At: events.At(at)}
}

// cast is who works with the agents.
type cast struct {
	people    []person // who ask
	reviewers []person // who decide; some are in the group sre
	sre       []person
	agents    []string
	models    []string
}

func newCast() cast {
	c := cast{
		agents: []string{"main", "main", "main", "release-bot", "data-analyst", "support-triage", "infra-oncall", "docs-writer"},
		models: []string{"large", "large", "small", "local"},
	}
	for i, name := range names() {
		p := person{id: fmt.Sprintf("u-%03d", 17*i%997), name: name, roles: []string{"agent"}, groups: []string{}, quick: 1}
		if i >= reviewerCount {
			c.people = append(c.people, p)
			continue
		}
		p.roles, p.quick = []string{"reviewer"}, []float64{1, 0.6, 1.5, 0.15}[i%4]
		p.groups = [][]string{{"sre"}, {"payments"}, {"support", "sre"}}[i%3]
		c.reviewers = append(c.reviewers, p)
		if i%3 != 1 {
			c.sre = append(c.sre, p)
		}
	}
	return c
}

// reviewerCount is how many of the names decide.
const reviewerCount = 12

func names() []string {
	return []string{
		"Ada Lindqvist", "Bao Trần", "Chidi Okonkwo", "Dolores Vega", "Emil Sørensen", "Farah Haddad", "Giulia Conti", "Hana Kobayashi",
		"Ines Carvalho", "Jonas Weber", "Kateryna Bondar", "Lars Nyström", "王小明", "Nadia Rahimi", "Oluwaseun Bello", "Priya Raman",
		"Quentin Moreau", "Rosa Jiménez", "Søren Kjær", "Tomasz Wójcik", "Ursula Brandt", "Viktor Horváth", "Wanjiru Kamau", "Ximena Torres",
		"Yusuf Demir", "Zoë van Dijk", "佐藤 花子", "김민준", "Aleksandr Petrov", "Bríd Ní Mhurchú", "Carlos Mendes", "Dana Levi",
		"Eero Mäkinen", "Fatima Zahra", "Grace O’Neill", "Henrik Dahl", "Isabel Rocha", "Jiří Novák", "Khalid Mansour", "Leila Azadi",
		"Marta Kowalska", "Noah Williams", "Olga Ivanova", "Paul Girard", "Ravi Shankar", "Sofia Rossi", "Tariq Aziz", "Uma Patel",
	}
}
