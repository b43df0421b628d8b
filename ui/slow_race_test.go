//go:build race

package ui_test

// slow is how many times slower than usual this build is.
const slow = 15
