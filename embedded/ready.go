package embedded

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/primitives"
	"google.golang.org/protobuf/types/known/durationpb"
)

// pollEvery is the pace of the waits below; each costs one read of the SQLite file.
const pollEvery = 50 * time.Millisecond

// makeReady brings the namespace to what the options ask for and returns when workflows and schedules can be started
// in it. Everything here may be repeated; the first start of a directory takes some 2 s, which is how long the server
// takes to notice a new search attribute (system.namespaceCacheRefreshInterval).
func makeReady(ctx context.Context, cl client.Client, o Options) error {
	if err := untilServing(ctx, cl); err != nil {
		return err
	}
	if err := ensureNamespace(ctx, cl.WorkflowService(), o); err != nil {
		return err
	}
	if err := ensureAttributes(ctx, cl, o); err != nil {
		return err
	}
	return untilSchedulesRun(ctx, cl.WorkflowService(), o.Namespace)
}

// repeat calls try until it is satisfied, and reports the last error when the time is over.
func repeat(ctx context.Context, what string, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w: last answer: %w", what, ctx.Err(), err)
		case <-time.After(pollEvery):
		}
	}
}

func untilServing(ctx context.Context, cl client.Client) error {
	return repeat(ctx, "the engine to serve", func() error {
		_, err := cl.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	})
}

func ensureNamespace(ctx context.Context, w workflowservice.WorkflowServiceClient, o Options) error {
	retention := durationpb.New(o.Retention)
	_, err := w.RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace:                        o.Namespace,
		Description:                      "fabricbot's runs",
		WorkflowExecutionRetentionPeriod: retention,
	})
	var exists *serviceerror.NamespaceAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("making namespace %s: %w", o.Namespace, err)
	}
	var got *workflowservice.DescribeNamespaceResponse
	// A namespace just made is unknown to the frontend's cache for a moment.
	err = repeat(ctx, "namespace "+o.Namespace, func() (err error) {
		got, err = w.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: o.Namespace})
		return err
	})
	if err != nil || got.Config.WorkflowExecutionRetentionTtl.AsDuration() == o.Retention {
		return err
	}
	config := got.Config
	config.WorkflowExecutionRetentionTtl = retention
	if _, err := w.UpdateNamespace(ctx, &workflowservice.UpdateNamespaceRequest{Namespace: o.Namespace, Config: config}); err != nil {
		return fmt.Errorf("setting retention of namespace %s to %s: %w", o.Namespace, o.Retention, err)
	}
	return nil
}

// ensureAttributes adds the search attributes that are missing and waits until a query may name them all. Without the
// wait the first workflow that carries one would be refused.
func ensureAttributes(ctx context.Context, cl client.Client, o Options) error {
	var have *operatorservice.ListSearchAttributesResponse
	// This service has a cache of its own, which may not know a namespace just made.
	err := repeat(ctx, "search attributes of namespace "+o.Namespace, func() (err error) {
		have, err = cl.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: o.Namespace})
		return err
	})
	if err != nil {
		return err
	}
	missing := map[string]enumspb.IndexedValueType{}
	var names []string
	for name, kind := range o.SearchAttributes {
		names = append(names, name)
		switch old, ok := have.CustomAttributes[name]; {
		case !ok:
			missing[name] = kind
		case old != kind:
			return fmt.Errorf("search attribute %s of namespace %s is %s and cannot become %s: give it another name", name, o.Namespace, old, kind)
		}
	}
	sort.Strings(names)
	if len(missing) > 0 {
		_, err = cl.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: o.Namespace, SearchAttributes: missing})
		if err != nil {
			return fmt.Errorf("adding search attributes %s to namespace %s: %w", strings.Join(names, ", "), o.Namespace, err)
		}
	}
	if len(names) == 0 {
		return nil
	}
	query := strings.Join(names, " IS NULL OR ") + " IS NULL"
	return repeat(ctx, "search attributes "+strings.Join(names, ", "), func() error {
		_, err := cl.WorkflowService().CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: o.Namespace, Query: query})
		return err
	})
}

// untilSchedulesRun waits for the server's own worker in this namespace, which runs the schedules.
func untilSchedulesRun(ctx context.Context, w workflowservice.WorkflowServiceClient, namespace string) error {
	return repeat(ctx, "the schedules' worker", func() error {
		got, err := w.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace:     namespace,
			TaskQueue:     &taskqueuepb.TaskQueue{Name: primitives.PerNSWorkerTaskQueue},
			TaskQueueType: enumspb.TASK_QUEUE_TYPE_WORKFLOW,
		})
		if err == nil && len(got.Pollers) == 0 {
			err = errors.New("no worker polls yet")
		}
		return err
	})
}
