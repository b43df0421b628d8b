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

// typeNames returns the names of the types that are critical, or that are not.
func typeNames(critical bool) []string {
	var names []string
	for _, t := range events.AllTypes() {
		if t.Critical() == critical {
			names = append(names, string(t))
		}
	}
	return names
}
