import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { systemClock } from '../foundation/clock.ts'
import { createSpinner } from './libraries.ts'
import type { Progress, Terminal } from './terminal.ts'

/** The terminal of this process. */
export function nodeTerminal(): Terminal {
  const { stdin, stdout, env } = process
  let interrupted: AbortController | undefined
  endWithTheReader()
  return {
    env,
    columns: stdout.isTTY ? stdout.columns : undefined,
    hasColour: stdout.isTTY === true && stdout.hasColors() && env.NO_COLOR === undefined,
    now: systemClock.now,
    get signal() {
      interrupted ??= abortOnInterrupt()
      return interrupted.signal
    },
    out: async (text) => {
      if (!stdout.write(text)) await once(stdout, 'drain')
    },
    err: (text) => void process.stderr.write(text),
    progress,
    ...(stdin.isTTY && { confirm }),
  }
}

/** For commands that ask for it: all others end at once. The second Ctrl-C ends these, too. */
function abortOnInterrupt(): AbortController {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  return interrupted
}

/** `holdfast list | head` closes the pipe: there is no reader left, and nothing to complain about. */
function endWithTheReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}

function progress(text: string): Progress {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} }
  const spinner = createSpinner(text, { stream: process.stderr }).start()
  return { update: (news) => void spinner.update(news), stop: () => void spinner.stop().clear() }
}

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim())
  } finally {
    lines.close()
  }
}
