package dsl

// checkNames checks what refers to something by name, and what must not be there twice.
func (p *Plan) checkNames(d *decoder) {}
