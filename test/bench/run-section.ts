import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findBrowser } from '../browser/support/find-browser.ts'
import type { SectionName, SectionResult } from './results.ts'
import type { Terms } from './terms.ts'

/** The program of each section. */
const PROGRAMS: Readonly<Record<SectionName, string>> = {
  get: 'client/throughput.mjs',
  post: 'client/throughput.mjs',
  cpu: 'client/cpu.mjs',
  promises: 'client/promises.mjs',
  heap: 'client/heap.mjs',
  settled: 'journal/settled.mjs',
  resume: 'journal/resume.mjs',
  browser: 'browser/posts.mjs',
  server: 'server/server-half.mjs',
  growth: 'server/growth.mjs',
  fleet: 'fleet/fleet.mjs',
  scale: 'scale/scale.mjs',
}

/**
 * Each section has a process of its own: neither compiled code nor garbage of one weighs on the next. It runs without
 * tsx, which would compile the package that is measured, and make it slower.
 */
export async function runSection(section: SectionName, terms: Terms): Promise<SectionResult> {
  const browserPath = section === 'browser' ? await findBrowser() : undefined
  const path = fileURLToPath(new URL(PROGRAMS[section], import.meta.url))
  const input = JSON.stringify({ section, browserPath, ...terms })
  const child = fork(path, [input], { execArgv: ['--expose-gc'] })
  return new Promise((resolve, reject) => {
    let result: SectionResult | undefined
    child.on('message', (message) => {
      result = message as SectionResult
    })
    child.on('error', reject)
    child.on('exit', (code) => {
      if (result && code === 0) resolve(result)
      else reject(new Error(`The section "${section}" ended with code ${code} and ${result ? 'a' : 'no'} result`))
    })
  })
}
