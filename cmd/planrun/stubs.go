package main

import "github.com/spf13/cobra"

func (p *program) showCommand() *cobra.Command    { return &cobra.Command{Use: "show"} }
func (p *program) reportCommand() *cobra.Command  { return &cobra.Command{Use: "report"} }
func (p *program) judgeCommand() *cobra.Command   { return &cobra.Command{Use: "judge"} }
func (p *program) listCommand() *cobra.Command    { return &cobra.Command{Use: "list"} }
func (p *program) explainCommand() *cobra.Command { return &cobra.Command{Use: "explain"} }
func (p *program) initCommand() *cobra.Command    { return &cobra.Command{Use: "init"} }
func (p *program) schemaCommand() *cobra.Command  { return &cobra.Command{Use: "schema"} }
func (p *program) envCommand() *cobra.Command     { return &cobra.Command{Use: "env"} }
func (p *program) cleanCommand() *cobra.Command   { return &cobra.Command{Use: "clean"} }
