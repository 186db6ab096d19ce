import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type GroupName, situationGroups } from './experiments/situation-groups.ts'
import { situationRows } from './experiments/situation-rows.ts'
import { fixed, percent } from './table.ts'

/* What the page shows must be what the present code does. Of that, the part that is simulated within a second or two. */

const PAGE = readFileSync(new URL('../../docs/internals/retry-storm-tables.md', import.meta.url), 'utf8')

function sectionOf(title: string): string {
  const [, section = ''] = PAGE.split(`\n## ${title}\n`)
  return section.split('\n## ')[0] ?? ''
}

/** The cells of a client, without the marks. */
function shownOf(section: string, policy: string): string[] {
  const line = section.split('\n').find((one) => one.startsWith(`| ${policy} `)) ?? ''
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.replaceAll(/[*!]/g, '').trim())
}

describe('the page of tables', () => {
  it.each(['shares-20', 'single'] satisfies GroupName[])('shows what Holdfast does now: %s', (name) => {
    const group = situationGroups([]).find((one) => one.name === name)
    if (!group) throw new Error(`There is no ${name}`)
    const contenders = group.contenders.filter(({ role }) => role === 'default')
    const rows = group.situations.flatMap((situation) =>
      situationRows({ ...group, contenders }, situation, { seed: 1, tell: () => {} }),
    )
    const found = rows.map(({ requests, success }) => `${fixed(requests, 3)} / ${percent(success)}`)
    expect(shownOf(sectionOf(group.title), 'Holdfast')).toEqual(found)
  })
})
