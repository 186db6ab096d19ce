import { afterEach, expect, inject, it } from 'vitest'
import { endAll } from '../support/child-process.ts'
import type { Backstage } from './backstage.ts'
import { killedPayment } from './payment-story.ts'
import { postgresBackstage } from './postgres-backstage.ts'

let backstage: Backstage

afterEach(async () => {
  await endAll()
  await backstage.close()
})

it('answers a payment whose server was killed after the charge as it would have done, and charges once', async () => {
  backstage = await postgresBackstage({ url: inject('postgresUrl') }, `holdfast_payment_${process.pid}`)
  const { answers, ...rest } = await killedPayment(backstage, 'after the charge')
  expect(rest).toEqual({ whileRunning: 409, charges: 1, requests: 1, state: 'done' })
  const answer = { status: 201, text: '{"paid":"ch_1"}', location: '/payments/ch_1', isReplayed: true }
  expect(answers).toEqual([answer, answer])
})

it('runs a payment again whose server was killed before the charge, and charges once', async () => {
  backstage = await postgresBackstage({ url: inject('postgresUrl') }, `holdfast_payment_${process.pid}`)
  const { answers, ...rest } = await killedPayment(backstage, 'before the charge')
  expect(rest).toEqual({ whileRunning: 409, charges: 1, requests: 1, state: 'done' })
  const answer = { status: 201, text: '{"paid":"ch_1"}', location: '/payments/ch_1' }
  expect(answers).toEqual([
    { ...answer, isReplayed: false },
    { ...answer, isReplayed: true },
  ])
})
