// Package model holds the formal model of an intent's life, in Promela, and the test that has Spin
// explore every state of it: what must hold does, and every known mistake is found out. docs/model.md
// says what is modelled, what is not, and which function each step stands for.
package model
