package cluster

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func pods() Kubernetes {
	return Kubernetes{
		Name: "mldp-mini-0011aabb", Image: "mldp:1", Study: "mini", Flags: []string{"--epsilons=1,5"}, Tasks: 8,
		Concurrent: 20,
		CPUs:       2, Memory: "4Gi", ResultsClaim: "results", DataClaim: "data",
	}
}

func TestManifest(t *testing.T) {
	k := pods()
	var b strings.Builder
	if err := k.Manifest(&b, "mini"); err != nil {
		t.Fatal(err)
	}
	var m struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Spec       struct {
			CompletionMode       string `yaml:"completionMode"`
			Completions          int
			Parallelism          int
			BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
			Template             struct {
				Spec struct {
					RestartPolicy string `yaml:"restartPolicy"`
					Containers    []struct {
						Command   []string
						Resources struct{ Limits map[string]any }
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(b.String()), &m); err != nil {
		t.Fatal(err)
	}
	if m.APIVersion != "batch/v1" || m.Kind != "Job" || m.Spec.CompletionMode != "Indexed" || m.Spec.Completions != 8 ||
		m.Spec.Parallelism != 8 || m.Spec.BackoffLimitPerIndex != 3 || m.Spec.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("%+v", m)
	}
	c := m.Spec.Template.Spec.Containers[0]
	want := `exec mldp run mini --epsilons=1,5 --out /results/mini --plan /results/mini/plan.jsonl --shard "$((JOB_COMPLETION_INDEX + 1))/8" --workers 2`
	if len(c.Command) != 3 || c.Command[2] != want {
		t.Errorf("command %q", c.Command)
	}
	if c.Resources.Limits["cpu"] != "2" { // a string: Kubernetes quantities are
		t.Errorf("cpu %#v", c.Resources.Limits["cpu"])
	}
}

func TestKubernetesCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*Kubernetes)
		want   string
	}{
		{func(k *Kubernetes) { k.Name = "Mini" }, "name"},
		{func(k *Kubernetes) { k.ResultsClaim = "" }, "results claim"},
		{func(k *Kubernetes) { k.Concurrent = 0 }, "concurrent = 0"},
		{func(k *Kubernetes) { k.Memory = "4 GB" }, "memory"},
		{func(k *Kubernetes) { k.Image = "" }, "image"},
	} {
		k := pods()
		c.change(&k)
		if err := k.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("err = %v, want %s", err, c.want)
		}
	}
	k := pods()
	k.DataClaim, k.Namespace = "", ""
	if err := k.Check(); err != nil {
		t.Error(err)
	}
}
