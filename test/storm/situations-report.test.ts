import { describe, expect, it } from 'vitest'
import type { SituationRow } from './experiments/situation-rows.ts'
import { situationsReport } from './situations-report.ts'

const row = (policy: string, given: Partial<SituationRow>): SituationRow => ({
  group: 'half',
  title: 'Half of it',
  situation: 'refuses early',
  policy,
  role: 'peer',
  requests: 1,
  success: 0.5,
  isBetter: false,
  isOnFront: false,
  ...given,
})

const OURS = row('Holdfast', { role: 'default', requests: 1.25, success: 0.8, isOnFront: true })
const aftermath = { requestsInOutage: 2, doneInOutage: 0.1, answeredAfter: 0.99, doneAfterMs: 1500 }

/** The cells of each line of the tables. */
const linesOf = (report: string): string[] => report.split('\n').map((line) => line.replaceAll(/ +/g, ' '))

describe('the report of the situations', () => {
  it('has a table for each group, with a column for each situation', () => {
    const late = row('Holdfast', { situation: 'refuses late', role: 'default', requests: 3, success: 0 })
    const lines = linesOf(situationsReport([OURS, late]))
    expect(lines).toContain('## Half of it')
    expect(lines).toContain('| client | refuses early | refuses late |')
    expect(lines).toContain('| Holdfast | 1.250 / 80.0 * | 3.000 / 0.0 |')
    expect(lines).toContain('No peer has more success and fewer requests than Holdfast in any of these situations.')
  })

  it('says first where a peer is better', () => {
    const lines = linesOf(situationsReport([OURS, row('ky', { requests: 1.1, success: 0.9, isBetter: true })]))
    expect(lines).toContain('| half: refuses early | ky | 1.100 / 90.0 | 1.250 / 80.0 |')
    expect(lines).toContain('| ky | 1.100 / 90.0 ! |')
  })

  it('tells what an outage leaves behind', () => {
    const storm = { ...aftermath, answersAfterMs: undefined }
    const rows = [row('ky', { aftermath: { ...aftermath, answersAfterMs: 3000 } }), row('got', { aftermath: storm })]
    const lines = linesOf(situationsReport(rows))
    expect(lines).toContain('| refuses early | ky | 2.00 | 10.0 | 1.5 s | 99.0 | 3 s |')
    expect(lines).toContain('| refuses early | got | 2.00 | 10.0 | 1.5 s | 99.0 | not seen |')
  })
})
