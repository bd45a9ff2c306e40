package engine_test

func victim([]string) {}
