#!/usr/bin/env node
import { nodeTerminal } from './node-terminal.ts'
import { runCommandLine } from './run-command-line.ts'

runCommandLine(process.argv.slice(2), nodeTerminal()).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`holdfast: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = 1
  },
)
