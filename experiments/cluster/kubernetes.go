package cluster

import (
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"mldpbench/internal/check"
)

// Kubernetes describes an Indexed Job (batch/v1). Folders are paths inside the
// container; claims are PersistentVolumeClaims that exist already.
type Kubernetes struct {
	Name         string
	Namespace    string // "" is the current one
	Image        string
	Study        string
	Flags        []string // flags of mldp run that select what is run
	Tasks        int
	Concurrent   int // pods at a time
	CPUs         int
	Memory       string // a Kubernetes quantity such as 4Gi
	ResultsClaim string // mounted read-write at /results
	DataClaim    string // mounted read-only at /data; "" for none
}

// Folders inside the container.
const (
	kubernetesResults = "/results"
	kubernetesData    = "/data"
	retriesPerTask    = 3
	graceSeconds      = 120 // after TERM, in which mldp discards running cells and writes finished ones
)

// The parts of batch/v1 Job that the manifest uses, in the order they are
// printed.
type (
	job struct {
		APIVersion string   `yaml:"apiVersion"`
		Kind       string   `yaml:"kind"`
		Metadata   metadata `yaml:"metadata"`
		Spec       jobSpec  `yaml:"spec"`
	}
	metadata struct {
		Name      string            `yaml:"name,omitempty"`
		Namespace string            `yaml:"namespace,omitempty"`
		Labels    map[string]string `yaml:"labels,omitempty"`
	}
	jobSpec struct {
		CompletionMode       string           `yaml:"completionMode"`
		Completions          int              `yaml:"completions"`
		Parallelism          int              `yaml:"parallelism"`
		BackoffLimitPerIndex int              `yaml:"backoffLimitPerIndex"`
		PodFailurePolicy     podFailurePolicy `yaml:"podFailurePolicy"`
		Template             podTemplate      `yaml:"template"`
	}
	podFailurePolicy struct {
		Rules []failureRule `yaml:"rules"`
	}
	failureRule struct {
		Action          string         `yaml:"action"`
		OnExitCodes     *exitCodes     `yaml:"onExitCodes,omitempty"`
		OnPodConditions []podCondition `yaml:"onPodConditions,omitempty"`
	}
	exitCodes struct {
		ContainerName string `yaml:"containerName"`
		Operator      string `yaml:"operator"`
		Values        []int  `yaml:"values"`
	}
	podCondition struct {
		Type   string `yaml:"type"`
		Status string `yaml:"status"`
	}
	podTemplate struct {
		Metadata metadata `yaml:"metadata"`
		Spec     podSpec  `yaml:"spec"`
	}
	podSpec struct {
		RestartPolicy                 string      `yaml:"restartPolicy"`
		TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
		Containers                    []container `yaml:"containers"`
		Volumes                       []volume    `yaml:"volumes"`
	}
	container struct {
		Name         string        `yaml:"name"`
		Image        string        `yaml:"image"`
		Command      []string      `yaml:"command"`
		Env          []envVar      `yaml:"env"`
		Resources    resources     `yaml:"resources"`
		VolumeMounts []volumeMount `yaml:"volumeMounts"`
	}
	envVar struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	}
	resources struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	}
	volumeMount struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly,omitempty"`
	}
	volume struct {
		Name                  string `yaml:"name"`
		PersistentVolumeClaim claim  `yaml:"persistentVolumeClaim"`
	}
	claim struct {
		ClaimName string `yaml:"claimName"`
		ReadOnly  bool   `yaml:"readOnly,omitempty"`
	}
)

var (
	dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	quantity = regexp.MustCompile(`^[1-9][0-9]*(Ki|Mi|Gi|Ti|k|M|G|T)?$`)
)

// Check validates names and sizes by the rules of Kubernetes.
func (k *Kubernetes) Check() error {
	for _, err := range []error{
		check.AtLeast("tasks", k.Tasks, 1), check.AtLeast("concurrent", k.Concurrent, 1),
		check.AtLeast("cpus", k.CPUs, 1),
	} {
		if err != nil {
			return err
		}
	}
	for what, name := range map[string]string{"name": k.Name, "results claim": k.ResultsClaim, "namespace": k.Namespace,
		"data claim": k.DataClaim} {
		optional := what == "namespace" || what == "data claim"
		if !(optional && name == "") && !dnsLabel.MatchString(name) {
			return fmt.Errorf("%s = %q: must be lower-case letters, digits and hyphens, at most 63", what, name)
		}
	}
	if k.Image == "" {
		return fmt.Errorf("image: must not be empty")
	}
	if !quantity.MatchString(k.Memory) {
		return fmt.Errorf("memory = %q: must be a quantity such as 4Gi", k.Memory)
	}
	return nil
}

// Manifest writes the Job as YAML. Pods read the schedule from
// /results/STUDY/plan.jsonl on the results claim.
//
// A pod that the cluster removes (DisruptionTarget) does not count as a failure
// of its index; wrong usage (exit code 2) fails the job at once, because no
// retry can fix it.
func (k *Kubernetes) Manifest(w io.Writer, folder string) error {
	if err := k.Check(); err != nil {
		return err
	}
	out := path.Join(kubernetesResults, folder)
	words := []string{"mldp", "run", Quote(k.Study)}
	for _, f := range k.Flags {
		words = append(words, Quote(f))
	}
	words = append(words, "--out", Quote(out), "--plan", Quote(path.Join(out, "plan.jsonl")),
		"--shard", fmt.Sprintf(`"$((JOB_COMPLETION_INDEX + 1))/%d"`, k.Tasks), "--workers", fmt.Sprint(k.CPUs))
	labels := map[string]string{"app.kubernetes.io/name": "mldp", "app.kubernetes.io/instance": k.Name}
	size := map[string]string{"cpu": fmt.Sprint(k.CPUs), "memory": k.Memory}
	pod := podSpec{
		RestartPolicy: "Never", TerminationGracePeriodSeconds: graceSeconds,
		Containers: []container{{
			Name: "mldp", Image: k.Image,
			Command: []string{"sh", "-c", "exec " + strings.Join(words, " ")},
			Env: []envVar{{"GOMAXPROCS", fmt.Sprint(k.CPUs)},
				{"XDG_CACHE_HOME", path.Join(kubernetesResults, ".cache")}},
			Resources:    resources{Requests: size, Limits: size},
			VolumeMounts: []volumeMount{{Name: "results", MountPath: kubernetesResults}},
		}},
		Volumes: []volume{{"results", claim{ClaimName: k.ResultsClaim}}},
	}
	if k.DataClaim != "" {
		c := &pod.Containers[0]
		c.Env = append(c.Env, envVar{"MLDP_DATA", kubernetesData})
		c.VolumeMounts = append(c.VolumeMounts, volumeMount{"data", kubernetesData, true})
		pod.Volumes = append(pod.Volumes, volume{"data", claim{k.DataClaim, true}})
	}
	text, err := yaml.MarshalWithOptions(job{
		APIVersion: "batch/v1", Kind: "Job",
		Metadata: metadata{Name: k.Name, Namespace: k.Namespace, Labels: labels},
		Spec: jobSpec{
			CompletionMode: "Indexed", Completions: k.Tasks, Parallelism: min(k.Concurrent, k.Tasks),
			BackoffLimitPerIndex: retriesPerTask,
			PodFailurePolicy: podFailurePolicy{[]failureRule{
				{Action: "Ignore", OnPodConditions: []podCondition{{"DisruptionTarget", "True"}}},
				{Action: "FailJob", OnExitCodes: &exitCodes{"mldp", "In", []int{2}}},
			}},
			Template: podTemplate{Metadata: metadata{Labels: labels}, Spec: pod},
		},
	}, yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
