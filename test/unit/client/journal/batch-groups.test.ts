import { describe, expect, it } from 'vitest'
import { type EncodedCommand, grouped } from '../../../../src/client/journal/postgres/batch-groups.ts'

const about = (kind: string, key: string, more: object = {}): EncodedCommand => ({
  do: kind,
  namespace: 'n',
  key,
  ...more,
})

/** Each step in short: its kind, and the keys of its rows. */
const stepsOf = (...commands: EncodedCommand[]) =>
  grouped(commands).map((step) => {
    const keys = 'rows' in step ? (step.rows as EncodedCommand[]).map(({ key }) => key) : [step.key]
    return `${step.do} ${keys.join(' ')}`
  })

describe('the commands of a batch', () => {
  it('of one kind are one step, also where others stand between them', () => {
    expect(stepsOf(about('change', 'a'), about('append', 'b'), about('change', 'c'), about('renew', 'd'))).toEqual([
      'change a c',
      'append b',
      'renew d',
    ])
  })

  it('do not pass one that looks for rows, removes one, or sets one aside', () => {
    for (const kind of ['claim', 'read', 'remove', 'set-aside', 'drop']) {
      expect(stepsOf(about('append', 'a'), about(kind, 'x'), about('append', 'b'))).toEqual([
        'append a',
        `${kind} x`,
        'append b',
      ])
    }
  })

  it('about the same key keep their order', () => {
    expect(stepsOf(about('append', 'a'), about('change', 'a'), about('append', 'b'))).toEqual([
      'append a',
      'change a',
      'append b',
    ])
    expect(stepsOf(about('append', 'a'), about('append', 'a'))).toEqual(['append a', 'append a'])
  })

  it('about the same key in two namespaces are about two rows', () => {
    expect(stepsOf(about('append', 'a'), about('append', 'a', { namespace: 'm' }))).toEqual(['append a a'])
  })

  it('with the same id keep their order', () => {
    const [first, second] = [about('append', 'a', { id: 'order:1' }), about('append', 'b', { id: 'order:1' })]
    expect(stepsOf(first, second)).toEqual(['append a', 'append b'])
  })

  it('that yield stand alone, and say the key that they yield for', () => {
    const level = about('append', 'https://x', { namespace: '', yields: true })
    expect(stepsOf(about('append', 'a'), level, about('append', 'b'))).toEqual([
      'append a',
      'append https://x',
      'append b',
    ])
    expect(grouped([level])).toMatchObject([{ yields: true, key: 'https://x' }])
  })
})
