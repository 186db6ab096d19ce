import type { HeaderList } from '../../protocol/headers.ts'
import { durationOption, readBytes, readCount, readHeader, withExamples } from '../arguments.ts'
import { type Command, InvalidArgumentError, Option } from '../libraries.ts'
import { DRAFT } from '../probe/draft.ts'
import { type Judgement, judgeServer, type ServerVerdict } from '../probe/judge.ts'
import { observeServer, type ProbePlan } from '../probe/observe-server.ts'
import { changeBody } from '../probe/other-body.ts'
import { printJson } from '../render/json.ts'
import { printVerdicts } from '../render/verdicts.ts'
import { Refusal, type Session, type Terminal, WrongUsage } from '../terminal.ts'

interface ProbeOptions {
  readonly method: string
  readonly jsonBody?: Uint8Array
  readonly data?: Uint8Array
  readonly otherBody?: Uint8Array
  readonly header?: HeaderList
  readonly keyHeader: string
  readonly keyFormat: 'bare' | 'structured'
  readonly parallel: number
  readonly wait: number
  readonly timeout: number
  readonly withoutKey?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

export function addProbe(program: Command, session: Session): void {
  const command = withProbeOptions(
    program
      .command('probe <url>')
      .description('ask a server whether it honours idempotency keys. It sends real requests, and some take effect'),
  ).action((address: string, options: ProbeOptions) => probe(address, options, session))
  withExamples(command, [
    [`holdfast probe http://localhost:3000/charges --json-body '{"amount":1}'`, 'a server on this machine'],
    [
      'holdfast probe https://sandbox.example.com/orders --json-body @order.json --header @token --yes',
      'one elsewhere, with the credentials that a file has',
    ],
  ])
}

function withProbeOptions(command: Command): Command {
  return command
    .option('--method <method>', 'of the requests', 'POST')
    .option('--json-body <json>', 'the body as JSON, or @file', readJson)
    .option('--data <text>', 'the body as it is, or @file', readData)
    .option(
      '--other-body <text>',
      'the body of the different request (default: the body with one value changed)',
      readData,
    )
    .option('--header <line>', "a header, 'Name: value' or @file with one a line", readHeader)
    .option('--key-header <name>', 'the header of the key', 'Idempotency-Key')
    .addOption(new Option('--key-format <format>', 'how it is written').choices(['bare', 'structured']).default('bare'))
    .option('--parallel <count>', 'how many at once', readCount, 8)
    .addOption(durationOption('--wait <duration>', 'before the first key is tried for the last time', '0s'))
    .addOption(durationOption('--timeout <duration>', 'for each request', '10s'))
    .option('--without-key', 'also send a request without a key')
    .option('--yes', 'do not ask before sending to another machine')
    .option('--json', 'print JSON')
}

async function probe(address: string, options: ProbeOptions, session: Session): Promise<void> {
  const { terminal } = session
  const plan = planOf(address, options)
  await insistOnLeave(plan, options, terminal)
  const progress = terminal.progress('Probing')
  const run = await observeServer(plan, (step) => progress.update(`Probing: ${step}`)).finally(progress.stop)
  const judgement = judgeServer(run)
  if (judgement.verdict !== 'honours') session.exitCode = 1
  const url = `${plan.request.url.origin}${plan.request.url.pathname}`
  if (options.json) return printJson(terminal, { url, draft: DRAFT, ...judgement })
  await printJudgement(url, judgement, terminal)
}

function planOf(address: string, options: ProbeOptions): ProbePlan {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new WrongUsage('probe takes a whole URL, such as http://localhost:3000/charges')
  }
  if (options.jsonBody && options.data) throw new WrongUsage('--json-body and --data exclude each other')
  const body = options.jsonBody ?? options.data ?? new TextEncoder().encode('{}')
  const type = options.data ? 'text/plain;charset=UTF-8' : 'application/json'
  const { method, header = [], timeout, keyHeader, keyFormat, parallel, wait, withoutKey = false } = options
  const headers = header.some(([name]) => name === 'content-type')
    ? header
    : [['content-type', type] as const, ...header]
  return {
    request: { url: new URL(address), method: method.toUpperCase(), headers, body, timeoutMs: timeout },
    otherBody: options.otherBody ?? changeBody(body),
    ...{ keyHeader, keyFormat, parallel, waitMs: wait, withoutKey },
  }
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** The requests are real: outside of this machine they are sent only where the user has said so. */
async function insistOnLeave(plan: ProbePlan, { yes }: ProbeOptions, terminal: Terminal): Promise<void> {
  const { method, url } = plan.request
  const effects = plan.withoutKey ? 5 : 4
  const says = `This sends ${plan.parallel + 9} real requests, ${method} ${url.origin}${url.pathname}; ${effects} operations are meant to happen, and more where keys are ignored.`
  terminal.err(`${says}\n`)
  if (yes || LOOPBACK.test(url.hostname)) return
  if (await terminal.confirm?.('Go on?')) return
  throw new Refusal(`Nothing was sent: ${url.host} is not this machine, and --yes was not said`)
}

const SUMMARIES: Readonly<Record<ServerVerdict, string>> = {
  honours: 'honours idempotency keys',
  partly: 'honours idempotency keys in part only: what is marked `fail` can happen twice, or be taken for done',
  ignores: 'does NOT honour idempotency keys: a retry does the work again',
  unclear: 'could not be judged from its answers',
}

async function printJudgement(url: string, { verdict, checks }: Judgement, terminal: Terminal): Promise<void> {
  const lines = checks.map(({ name, verdict: word, seen, draft }) => ({
    word,
    name,
    text: seen,
    note: word === 'pass' ? undefined : `draft ${draft.section}: ${draft.text}`,
  }))
  await printVerdicts(terminal, lines)
  await terminal.out(`\n${url} ${SUMMARIES[verdict]}.\nSections are those of ${DRAFT}.\n`)
}

function readJson(value: string): Uint8Array {
  const bytes = readData(value)
  try {
    JSON.parse(new TextDecoder().decode(bytes))
    return bytes
  } catch {
    throw new InvalidArgumentError('It has to be JSON.')
  }
}

function readData(value: string): Uint8Array {
  return value.startsWith('@') ? readBytes(value.slice(1)) : new TextEncoder().encode(value)
}
