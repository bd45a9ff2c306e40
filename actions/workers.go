package actions

// Processes is how many worker processes share what the load takes of the machine; 0 while that is not known.
func (l *Load) Processes() int { return l.Workers }
