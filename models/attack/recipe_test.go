package attack_test

// The template of CONTRIBUTING reaches its ceiling and its floor like the attackers that are here.
import _ "mldpbench/examples/recipes/attacker"
