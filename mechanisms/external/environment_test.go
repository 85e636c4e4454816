package external

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A value of the environment reaches the command, and nothing that is written.
func TestEnvironmentInACommand(t *testing.T) {
	const secret = "s3cret-value"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // the client writes to the file it is given
	t.Setenv("MLDP_TEST_KEY", secret)
	ctx := context.Background()
	args, err := Split(self + " client 'its arguments' --api-key=${MLDP_TEST_KEY}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(ctx, args, Options{})
	if err == nil || !strings.Contains(err.Error(), "[--api-key=${MLDP_TEST_KEY}]") || strings.Contains(err.Error(),
		secret) {
		t.Errorf("the command got, and the error tells, %v", err)
	}
	if _, err := Open(ctx, []string{"no-such-${MLDP_TEST_KEY}"}, Options{}); err == nil ||
		strings.Contains(err.Error(), secret) {
		t.Errorf("a program that is not there: %v", err)
	}

	args = []string{self, "client", "good", "${MLDP_TEST_KEY}"}
	identity := func() Identity {
		c, err := Open(ctx, args, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.Identity()
	}
	first := identity()
	if text, err := json.Marshal(first); err != nil || strings.Contains(string(text), secret) {
		t.Errorf("%s, %v", text, err)
	}
	t.Setenv("MLDP_TEST_KEY", "another")
	if identity().Key() != first.Key() {
		t.Error("the key of a text depends on the value of a variable that is not in env")
	}

	// A file that a variable names counts, by its content.
	file := filepath.Join(t.TempDir(), "vectors.txt")
	t.Setenv("MLDP_TEST_KEY", file)
	var keys []string
	for _, content := range []string{"a", "b"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		i := identity()
		if keys = append(keys, i.Key()); i.Files[len(i.Files)-1].Name != "${MLDP_TEST_KEY}" {
			t.Errorf("files %v", i.Files)
		}
	}
	if keys[0] == keys[1] {
		t.Error("the content of the file is in no key")
	}

	os.Unsetenv("MLDP_TEST_KEY")
	want := "the environment variable MLDP_TEST_KEY is not set"
	if _, err := Open(ctx, args, Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("unset: %v", err)
	}
	if err := Check(args, Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("unset, checked: %v", err)
	}
}
