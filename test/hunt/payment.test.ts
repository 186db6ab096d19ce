import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { endAll } from '../support/child-process.ts'
import type { Backstage } from './backstage.ts'
import { killedPayment } from './payment-story.ts'
import { sqliteBackstage } from './sqlite-backstage.ts'

let folder: string
let backstage: Backstage

afterEach(async () => {
  await endAll()
  await backstage.close()
  rmSync(folder, { recursive: true, force: true })
})

it('answers a payment whose server was killed after the charge as it would have done, and charges once', async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-payment-'))
  backstage = await sqliteBackstage(folder)
  const { answers, ...rest } = await killedPayment(backstage, 'after the charge')
  expect(rest).toEqual({ whileRunning: 409, charges: 1, requests: 1, state: 'done' })
  const answer = { status: 201, text: '{"paid":"ch_1"}', location: '/payments/ch_1', isReplayed: true }
  expect(answers).toEqual([answer, answer])
})

it('runs a payment again whose server was killed before the charge, and charges once', async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-payment-'))
  backstage = await sqliteBackstage(folder)
  const { answers, ...rest } = await killedPayment(backstage, 'before the charge')
  expect(rest).toEqual({ whileRunning: 409, charges: 1, requests: 1, state: 'done' })
  const answer = { status: 201, text: '{"paid":"ch_1"}', location: '/payments/ch_1' }
  expect(answers).toEqual([
    { ...answer, isReplayed: false },
    { ...answer, isReplayed: true },
  ])
})
