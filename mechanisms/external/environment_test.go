package external

import (
	"context"
	"os"
	"strings"
	"testing"
)

// A secret comes to the command through its environment: nothing of it is in the
// command line, the identity or a message.
func TestSecretsComeFromTheEnvironment(t *testing.T) {
	t.Setenv("MLDP_TEST_KEY", "s3cret-value")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), []string{self, "client", "its environment"}, Options{})
	if err == nil || !strings.Contains(err.Error(), "it has 12 characters") {
		t.Errorf("the command got, and the error tells, %v", err)
	}
}
