import { afterEach, describe, expect, it } from 'vitest'
import {
  blindToBodies,
  closedShop,
  forgetful,
  forgetsLostAnswers,
  ours,
  type ProbedServer,
  racing,
  taciturn,
  withoutKeys,
} from './support/probed-servers.ts'
import { cli, parsed } from './support/run-cli.ts'

interface Report {
  readonly verdict: string
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly seen: string }[]
}

const servers: ProbedServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

async function probe(start: Promise<ProbedServer>, ...more: string[]) {
  const server = await start
  servers.push(server)
  const result = await cli(['probe', server.url, '--json-body', '{"amount":5}', '--json', ...more])
  const report = parsed<Report>(result)
  const verdicts = Object.fromEntries(report.checks.map(({ name, verdict }) => [name, verdict]))
  return { ...report, code: result.code, err: result.err, verdicts, server }
}

const ALL_PASS = {
  'first request': 'pass',
  'same key again': 'pass',
  'another body': 'pass',
  'at once': 'pass',
  'lost answer': 'pass',
  later: 'pass',
}

describe('probe tells', () => {
  it('a server with a ledger of ours: it honours keys', async () => {
    const { verdict, code, verdicts, server, err } = await probe(ours())
    expect({ verdict, code, verdicts }).toEqual({ verdict: 'honours', code: 0, verdicts: ALL_PASS })
    expect(server.effects()).toBe(4)
    expect(err).toMatch(/^This sends 17 real requests, POST http:\/\/127/)
  })

  it('a server without keys', async () => {
    const { verdict, code, verdicts, server } = await probe(withoutKeys())
    expect({ verdict, code }).toEqual({ verdict: 'ignores', code: 1 })
    expect(verdicts).toMatchObject({
      'same key again': 'fail',
      'at once': 'fail',
      'another body': 'fail',
      later: 'fail',
    })
    expect(server.effects()).toBeGreaterThan(10)
  })

  it('a server that forgets keys', async () => {
    const { verdict, code, verdicts } = await probe(forgetful())
    expect({ verdict, code, verdicts }).toMatchObject({
      verdict: 'partly',
      code: 1,
      verdicts: { 'same key again': 'pass', 'at once': 'pass', later: 'fail' },
    })
  })

  it('a server that ignores the body', async () => {
    const { verdict, code, verdicts } = await probe(blindToBodies())
    expect({ verdict, code, verdicts }).toEqual({
      verdict: 'partly',
      code: 1,
      verdicts: { ...ALL_PASS, 'another body': 'fail' },
    })
  })

  it('a server that races', async () => {
    const { verdict, code, verdicts, checks } = await probe(racing())
    expect({ verdict, code, verdicts }).toEqual({
      verdict: 'partly',
      code: 1,
      verdicts: { ...ALL_PASS, 'at once': 'fail' },
    })
    expect(checks.find(({ name }) => name === 'at once')?.seen).toMatch(/^done [2-8] times: 8 × 201$/)
  })

  it('a server that forgets what it did for a client that was gone, as far as it can be seen', async () => {
    const { verdicts, checks, server } = await probe(forgetsLostAnswers())
    expect(verdicts).toMatchObject({ 'same key again': 'pass', 'at once': 'pass', 'lost answer': 'unclear' })
    expect(checks.find(({ name }) => name === 'lost answer')?.seen).toMatch(/or it was done twice/)
    expect(server.effects()).toBe(5)
  })
})

describe('probe admits that it cannot tell', () => {
  it('where the answers have nothing in them', async () => {
    const { verdict, code, verdicts } = await probe(taciturn())
    expect({ verdict, code }).toMatchObject({ verdict: 'partly', code: 1 })
    expect(verdicts).toMatchObject({ 'same key again': 'unclear', 'at once': 'unclear', 'another body': 'fail' })
  })

  it('where only a time differs from answer to answer', async () => {
    let at = 0
    const { verdicts } = await probe(withoutKeys(() => ({ ok: true, createdAt: ++at })))
    expect(verdicts).toMatchObject({ 'same key again': 'unclear', 'at once': 'unclear' })
  })

  it('where the first request is refused, and then sends no other', async () => {
    const { verdict, code, checks, server } = await probe(closedShop(401))
    expect({ verdict, code, count: checks.length, effects: server.effects() }).toEqual({
      verdict: 'unclear',
      code: 1,
      count: 1,
      effects: 0,
    })
    expect(checks[0]?.seen).toMatch(/answered 401/)
  })

  it('where no server answers', async () => {
    const result = await cli(['probe', 'http://127.0.0.1:9/charges', '--json'])
    expect(result.code).toBe(1)
    expect(result.out).toMatch(/got no answer \(ECONNREFUSED\)/)
  })
})

describe('probe', () => {
  it('asks before it sends to another machine, and sends nothing without leave', async () => {
    const asked: string[] = []
    const confirm = async (question: string): Promise<boolean> => {
      asked.push(question)
      return false
    }
    const url = 'http://user:geheim@shop.invalid/charges?token=geheim'
    const answered = await cli(['probe', url], { confirm })
    expect(answered).toMatchObject({ code: 1, out: '' })
    expect(answered.err).toMatch(/sends 17 real requests, POST http:\/\/shop\.invalid\/charges; 4 operations/)
    expect(answered.err).toMatch(/Nothing was sent/)
    expect(answered.err).not.toMatch(/geheim/)
    expect(asked).toHaveLength(1)
    const unattended = await cli(['probe', 'http://shop.invalid/charges'])
    expect(unattended).toMatchObject({ code: 1, out: '' })
  })

  it('prints what it saw, and the sentence of the draft where that is not met', async () => {
    const server = await blindToBodies()
    servers.push(server)
    const { out, code } = await cli(['probe', server.url])
    expect(code).toBe(1)
    expect(out).toMatch(/^pass {2}same key again {2}the same answer as the first time$/m)
    expect(out).toMatch(/^fail {2}another body {4}answered 201: the answer of the first request/m)
    expect(out).toMatch(/draft 2\.7: If there is an attempt to reuse an idempotency key/)
    expect(out).toMatch(/honours idempotency keys in part only/)
  })

  it.each([
    [['probe', 'charges'], /whole URL/],
    [['probe', 'http://localhost:1/', '--json-body', '{'], /has to be JSON/],
    [['probe', 'http://localhost:1/', '--json-body', '{}', '--data', 'x'], /exclude each other/],
    [['probe', 'http://localhost:1/', '--header', 'no colon: \r\n x'], /Name: value/],
    [['probe'], /missing required argument/],
  ])('refuses wrong usage: %j', async (args, message) => {
    const { code, err } = await cli(args)
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  it('sends the headers, the key and the method that it is told, and one request without a key where asked', async () => {
    const { verdicts } = await probe(ours(), '--without-key', '--key-format', 'structured', '--parallel', '2')
    expect(verdicts).toEqual({ ...ALL_PASS, 'no key': 'pass' })
  })
})
