package fabric

import (
	"fmt"
	"slices"
	"strings"
)

// HostSource knows which hosts and groups there are; the inventory is one.
type HostSource interface {
	// Host says whether a host of exactly this name exists.
	Host(name string) bool
	// Group returns the names of a group's hosts, and whether there is such a group.
	Group(name string) ([]string, bool)
	// Names returns the names of all hosts, Groups those of all groups; both only serve to find what a person meant.
	Names() []string
	Groups() []string
}

// Resolve turns the expression into the hosts it means. A host or group that src does not know is an error, also in an
// exclusion, and so is an expression that leaves no host: nothing is dropped silently and nothing ever means everything.
func (e HostExpr) Resolve(src HostSource) (HostSet, error) {
	terms, err := parseHostTerms(string(e))
	if err != nil {
		return HostSet{}, err
	}
	var included, excluded []string
	for _, t := range terms {
		names, err := e.resolveTerm(t, src)
		if err != nil {
			return HostSet{}, err
		}
		if t.exclude {
			excluded = append(excluded, names...)
			continue
		}
		included = append(included, names...)
		if len(included) > MaxHosts {
			// Groups may overlap, so only distinct names count.
			if included = sortedHosts(included).names; len(included) > MaxHosts {
				return HostSet{}, &HostExprError{Expr: string(e), Column: t.column, Reason: fmt.Sprintf("more than %d hosts", MaxHosts)}
			}
		}
	}
	set := sortedHosts(included).Minus(sortedHosts(excluded))
	if set.Empty() {
		return HostSet{}, &HostExprError{Expr: string(e), Column: 1, Reason: "no host is left after the exclusions"}
	}
	return set, nil
}

func (e HostExpr) resolveTerm(t hostTerm, src HostSource) ([]string, error) {
	fail := func(format string, args ...any) ([]string, error) {
		return nil, &HostExprError{Expr: string(e), Column: t.column, Reason: fmt.Sprintf(format, args...)}
	}
	expanded := t.expand()
	if !t.group {
		unknown := slices.DeleteFunc(slices.Clone(expanded), src.Host)
		if len(unknown) == 0 {
			return expanded, nil
		}
		if len(unknown) > 1 {
			return fail("%d unknown hosts: %s%s", len(unknown), abbreviate(sortedHosts(unknown).String()), didYouMean(unknown[0], src.Names(), ""))
		}
		return fail("unknown host %s%s", unknown[0], didYouMean(unknown[0], src.Names(), ""))
	}
	var names []string
	for _, group := range expanded {
		members, found := src.Group(group)
		if !found {
			return fail("unknown group @%s%s", group, didYouMean(group, src.Groups(), "@"))
		}
		if len(members) == 0 {
			return fail("group @%s has no hosts", group)
		}
		for _, name := range members {
			if !src.Host(name) {
				return fail("group @%s names the unknown host %.80q", group, name)
			}
		}
		names = append(names, members...)
	}
	return names, nil
}

func didYouMean(word string, candidates []string, mark string) string {
	match, found := NearestName(word, candidates)
	if !found {
		return ""
	}
	return fmt.Sprintf(", did you mean %s%s?", mark, match)
}

func abbreviate(text string) string {
	if len(text) <= 120 {
		return text
	}
	return strings.TrimRight(text[:119], ",-[") + "…"
}
