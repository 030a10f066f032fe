package bot

import (
	"testing"
	"time"
)

func TestPostsComeInShortBursts(t *testing.T) {
	now := time.Now()
	b := newBudget(Pace{}.withDefaults(), stoppedClock{&now})
	for i := range postBurst {
		if wait := b.take(methodPost, "C1", true); wait != 0 {
			t.Errorf("post %d has to wait %v", i+1, wait)
		}
	}
	if wait := b.take(methodPost, "C1", true); wait != time.Second {
		t.Errorf("one post too many has to wait %v", wait)
	}
	if wait := b.take(methodPost, "C2", true); wait != 0 {
		t.Errorf("another channel has to wait %v", wait)
	}
	now = now.Add(time.Second)
	if wait := b.take(methodPost, "C1", true); wait != 0 {
		t.Errorf("a second later: %v", wait)
	}
}

// TestUpdatesStayBelowTheTier counts what an hour of haste lets through.
func TestUpdatesStayBelowTheTier(t *testing.T) {
	now := time.Now()
	b := newBudget(Pace{}.withDefaults(), stoppedClock{&now})
	sent := 0
	for range 60 * 60 * 10 {
		if b.take(methodUpdate, "C1", sent%2 == 0) == 0 {
			sent++
		}
		now = now.Add(100 * time.Millisecond)
	}
	if most := 45*60 + 45; sent > most || sent < 44*60 {
		t.Errorf("%d updates in an hour, want about %d", sent, 45*60)
	}
}

// TestUrgentUpdatesHaveAReserve spends everything that progress may spend.
func TestUrgentUpdatesHaveAReserve(t *testing.T) {
	now := time.Now()
	b := newBudget(Pace{}.withDefaults(), stoppedClock{&now})
	for b.take(methodUpdate, "C1", false) == 0 {
	}
	if b.peek(methodUpdate) == 0 {
		t.Error("progress still finds room")
	}
	for i := range 10 {
		if wait := b.take(methodUpdate, "C1", true); wait != 0 {
			t.Fatalf("urgent update %d has to wait %v", i+1, wait)
		}
	}
	if b.take(methodUpdate, "C1", true) == 0 {
		t.Error("the reserve has no end")
	}
}

func TestRetryAfterHoldsOneMethod(t *testing.T) {
	now := time.Now()
	b := newBudget(Pace{}.withDefaults(), stoppedClock{&now})
	b.punish(methodUpdate, 30*time.Second)
	b.punish(methodUpdate, time.Second)
	if wait := b.take(methodUpdate, "C1", true); wait != 30*time.Second {
		t.Errorf("the method waits %v", wait)
	}
	if wait := b.take(methodPost, "C1", true); wait != 0 {
		t.Errorf("another method waits %v", wait)
	}
}
