// Your own API and your own journal, in hundreds of histories full of crashes, lost answers and outages.
// Run: node examples/08-simulate-your-api/main.mjs
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteJournal } from 'holdfast/sqlite'
import { simulate } from 'holdfast/testing'

/** A shop that remembers which orders it has taken, and what it answered. */
class Shop {
  taken = []
  answers = new Map()

  async fetch(request) {
    const key = request.headers.get('idempotency-key')
    if (!this.answers.has(key)) this.answers.set(key, await this.take(key, request))
    return Response.json(this.answers.get(key), { status: 201 })
  }

  async take(key, request) {
    this.taken.push(key)
    return { order: this.taken.length, for: await request.json() }
  }

  effects(key) {
    return this.taken.filter((taken) => taken === key).length
  }
}

/** The same shop, written in a hurry: it takes every order that comes. */
class HastyShop extends Shop {
  async fetch(request) {
    return Response.json(await this.take(request.headers.get('idempotency-key'), request), { status: 201 })
  }
}

async function put(title, options) {
  const { histories, crashes, failed } = await simulate({ seed: 1, ...options })
  const [first] = failed
  const found = first
    ? `seed ${first.seed} breaks ${first.broken[0].promise}: ${first.broken[0].sentence}`
    : 'every promise held'
  console.log(`${title}: ${histories} histories, ${crashes} crashes: ${found}`)
  return first
}

await put('the shop', { histories: 300, api: () => new Shop() })
const failure = await put('the hasty shop', { histories: 300, api: () => new HastyShop() })
console.log(failure.trace.filter((line) => /server|BROKEN/.test(line)).join('\n'))

const folder = mkdtempSync(join(tmpdir(), 'holdfast-simulate-'))
let files = 0
const journal = () => sqliteJournal({ path: join(folder, `${files++}.db`) })
await put('on a journal of your own', { histories: 20, journal })
rmSync(folder, { recursive: true })
