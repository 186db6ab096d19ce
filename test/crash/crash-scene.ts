import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { CallerInput } from '../support/child-caller.ts'
import { endAll, type LineProcess } from '../support/child-process.ts'
import { startProgram } from '../support/child-program.ts'
import type { ResumerInput } from '../support/child-resumer.ts'
import { CountingServer } from '../support/counting-server.ts'

export interface Said {
  readonly is: string
  readonly [more: string]: unknown
}

/** Everything that a child said, as objects. */
export function saidBy(child: LineProcess): Said[] {
  return child.lines.map((line) => JSON.parse(line) as Said)
}

/** The first thing of this kind that a child says. */
export async function hear(child: LineProcess, is: string): Promise<Said> {
  return JSON.parse(await child.until((line) => (JSON.parse(line) as Said).is === is)) as Said
}

const folders: string[] = []

/** One judge, and a folder for journals. Everything is gone when the file is done. */
export function crashScene(): CrashScene {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-crash-'))
  folders.push(folder)
  return new CrashScene(folder)
}

afterAll(async () => {
  await endAll()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

export class CrashScene {
  readonly folder: string
  readonly server: Promise<CountingServer>
  #number = 0

  constructor(folder: string) {
    this.folder = folder
    this.server = CountingServer.start(join(folder, 'effects'))
  }

  /** A journal and a path that nobody else uses. */
  place(): { readonly db: string; readonly path: string } {
    this.#number++
    return { db: join(this.folder, `${this.#number}.db`), path: `/charges/${this.#number}` }
  }

  async call(input: Omit<CallerInput, 'origin'>): Promise<LineProcess> {
    return startProgram('child-caller', { origin: (await this.server).origin, ...input })
  }

  async resume(input: Omit<ResumerInput, 'origin'>): Promise<LineProcess> {
    return startProgram('child-resumer', { origin: (await this.server).origin, ...input })
  }

  /** One pass in a process of its own, to its end. */
  async resumeOnce(input: Omit<ResumerInput, 'origin'>): Promise<Said[]> {
    const child = await this.resume(input)
    await child.ended
    return saidBy(child)
  }
}

export function only(said: readonly Said[], is: string): Said[] {
  return said.filter((one) => one.is === is)
}
