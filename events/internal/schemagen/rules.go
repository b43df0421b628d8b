package main

import "github.com/countersign-dev/countersign/events"

// rules returns what a schema says of several members together, for the few Go
// types that have such rules. A test holds each against the decoder.
func rules(goType string) []*schema {
	switch goType {
	case "Decision":
		return []*schema{{
			If:   with("cause", &schema{Enum: []string{string(events.CauseHuman), string(events.CauseHandler)}}),
			Then: &schema{Required: []string{"actor"}},
			Else: &schema{Properties: properties{{"actor", false}}},
		}}
	case "Warrant":
		return []*schema{
			warranted(events.WarrantDecision, "decision"),
			warranted(events.WarrantRule, "rule", "policy_digest"),
			warranted(events.WarrantBypass, "id"),
			warranted(events.WarrantStandingRule, "id"),
		}
	case "Envelope":
		return []*schema{
			{
				If:   with("type", &schema{Enum: typeNames(true)}),
				Then: &schema{Required: []string{"critical"}, Properties: properties{{"critical", &schema{Const: true}}}},
			},
			{
				If:   with("type", &schema{Enum: typeNames(false)}),
				Then: &schema{Properties: properties{{"critical", &schema{Const: false}}}},
			},
			byVersion(events.TypeRecovered),
		}
	default:
		return nil
	}
}

func with(member string, is *schema) *schema {
	return &schema{Properties: properties{{member, is}}, Required: []string{member}}
}

func warranted(kind events.WarrantKind, members ...string) *schema {
	return &schema{If: with("kind", &schema{Const: string(kind)}), Then: &schema{Required: members}}
}

// since returns the version of a type that has a member for the first time. What
// came with a version makes it, and must be there.
func since(goType, member string) int {
	if goType == "Recovered" && member == "rollback" {
		return 2
	}
	return 1
}

// byVersion says of a type that is critical from its second version on.
func byVersion(t events.Type) *schema {
	return &schema{
		If: with("type", &schema{Const: string(t)}),
		Then: &schema{
			If:   with("dataschema", &schema{Const: events.SchemaPath(t, 2)}),
			Then: &schema{Required: []string{"critical"}, Properties: properties{{"critical", &schema{Const: true}}}},
			Else: &schema{Properties: properties{{"critical", &schema{Const: false}}}},
		},
	}
}

// typeNames returns the names of the types that are critical in every version, or
// in none.
func typeNames(critical bool) []string {
	var names []string
	for _, t := range events.AllTypes() {
		if t.Critical() == critical && t.Version() == 1 {
			names = append(names, string(t))
		}
	}
	return names
}
