package main

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/fabrictest"
	"github.com/fabricbot/fabricbot/fabric/parse"
	"github.com/fabricbot/fabricbot/pictures"
	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

// The limits of the topology figures.
const (
	topologyHosts   = 10_000
	parseLeastMBps  = 100
	compareMost     = 1.0 // s
	memoryMostTimes = 5
)

// topology reads, compares and draws the fabric of 10,000 hosts.
func (b *bench) topology(ctx context.Context) error {
	var text bytes.Buffer
	if err := fabrictest.WriteIBNetDiscover(&text, fabrictest.FatTree(topologyHosts)); err != nil {
		return fmt.Errorf("writing the fabric: %w", err)
	}
	old, err := parse.IBNetDiscover(bytes.NewReader(text.Bytes()))
	if err != nil {
		return fmt.Errorf("reading the fabric: %w", err)
	}
	mb := float64(text.Len()) / 1e6
	var rates, compares, draws, allocated, held []float64
	for range b.rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := memory()
		begin := time.Now()
		t, err := parse.IBNetDiscover(bytes.NewReader(text.Bytes()))
		took := time.Since(begin)
		if err != nil {
			return fmt.Errorf("reading the fabric: %w", err)
		}
		after := memory()
		rates = append(rates, mb/took.Seconds())
		allocated = append(allocated, float64(after.TotalAlloc-before.TotalAlloc)/float64(text.Len()))
		held = append(held, (float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(text.Len()))

		change(t)
		begin = time.Now()
		d := fabric.Compare(old, t, fabric.DiffOptions{})
		compares = append(compares, time.Since(begin).Seconds())
		if len(d.Changes) == 0 {
			return fmt.Errorf("comparing the fabrics: the planted changes were not found")
		}
		begin = time.Now()
		p, err := pictures.Topology(t, pictures.Options{Diff: d, Old: old})
		if err != nil {
			return fmt.Errorf("drawing the fabric: %w", err)
		}
		draws = append(draws, time.Since(begin).Seconds())
		if len(p.PNG) == 0 || len(p.SVG) == 0 {
			return fmt.Errorf("drawing the fabric: the picture is empty")
		}
	}
	n := b.rounds
	b.sheet.Put(figure.AtLeast("topology of 10,000 hosts, parse", figure.Median(rates), "MB/s", parseLeastMBps, n))
	f := figure.AtMost("topology of 10,000 hosts, memory allocated by parsing", figure.Median(allocated), "times the text", memoryMostTimes, n)
	f.Note = fmt.Sprintf("all that was ever allocated; %.3g times the text stays held; the text has %.1f MB", figure.Median(held), mb)
	b.sheet.Put(f)
	b.sheet.Put(figure.AtMost("topology of 10,000 hosts, compare", figure.Median(compares), "s", compareMost, n))
	b.sheet.Put(figure.Figure{Name: "topology of 10,000 hosts, draw PNG and SVG", Value: figure.Median(draws), Unit: "s", N: n})
	b.sheet.Skip("topology of 10,000 hosts against ibnetdiscover's own run", "ibnetdiscover needs a fabric of that size, which this machine does not have")
	return nil
}

// change plants what a comparison must find: every hundredth adapter narrow.
func change(t *fabric.Topology) {
	planted := 0
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Type == fabric.NodeCA && len(n.Ports) > 0 {
			if planted++; planted%100 == 0 {
				n.Ports[0].Width = 1
			}
		}
	}
}

// memory is read after a collection, so that HeapAlloc is what is held.
func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}
