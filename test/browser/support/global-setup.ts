import { rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { browserEntries } from '../../../tsup.config.ts'
import { findBrowser } from './find-browser.ts'
import { packageUnderTest } from './package-under-test.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The program of the browser. */
    browserPath: string
    /** The folder with the browser build. */
    packageUnderTest: string
    /** The names of its doors there. Handed over, because to ask tsup takes every file of tests a second. */
    browserEntries: string[]
  }
}

/** Once for all files, before the first: one installation of a browser and one build, however many files ask. */
export async function setup(project: TestProject): Promise<() => void> {
  project.provide('browserPath', await findBrowser())
  project.provide('browserEntries', Object.keys(browserEntries))
  const folder = await packageUnderTest()
  project.provide('packageUnderTest', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
