import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RefusalReason } from '../../../src/server/admission/refusal.ts'
import { root } from './pages.ts'

export const PROBLEMS = 'docs/reference/problems.md'

/** What the page says of one problem, from its heading to the next. */
export function problemSection(reason: RefusalReason): string {
  const sections = readFileSync(join(root, PROBLEMS), 'utf8').split(/^## /m)
  const found = sections.find((section) => section.split('\n', 1)[0]?.toLowerCase().replaceAll(' ', '-') === reason)
  if (found === undefined) throw new Error(`${PROBLEMS} has no section for ${reason}`)
  return found
}
