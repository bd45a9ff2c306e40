// Package proc runs processes: it starts them, knows when they are ready, watches them, and ends them with everything
// that they started. It implements task.Processes.
//
// A Manager belongs to an engine, a Group to an installation (or to the plan, for what outlives them). Starting goes in
// steps:
//
//  1. the program is found (a missing one is a *MissingProgram) and what it may use is made (cgroup.go);
//  2. an entry goes to the journal that finds the process by its environment alone (identity.go);
//  3. it is started in a session of its own, pinned before it runs (spawn.go);
//  4. a second entry adds its process id and start time;
//  5. its readiness is awaited; that it ended, or the deadline, is a *StartError with the last lines of its log (ready.go).
//
// A tree of processes is what carries the start's environment variables, and what the kernel shows to belong to it: so
// daemons, children of children, and processes that overwrite their environment are found, also by another engine after
// this one was killed. Ending a tree goes on until nothing of it is left (end.go).
package proc
