// A section of the benchmark is a program of its own: it gets its terms as an argument and sends its result as a message.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const terms = JSON.parse(process.argv[2] ?? '{}')

/** Runs `measure({ ...terms, directory })`, sends what it gives, and removes the directory. */
export async function runSection(measure) {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    const result = await measure({ ...terms, directory })
    await new Promise((sent) => process.send(result, sent))
  } finally {
    rmSync(directory, { recursive: true, force: true })
    process.disconnect?.()
  }
}

/** A line about what goes on, for the person who waits. */
export function tell(line) {
  if (terms.progress !== 'shown') return
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
}
