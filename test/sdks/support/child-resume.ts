/** Resumes what a killed process has left, with its credentials or without. */
import { createClient } from '../../../src/index.ts'
import { say } from '../../support/child-voice.ts'
import { resumableClient } from '../snippets/holdfast.ts'
import { aimedChild, type ChildInput } from './child-call.ts'

export interface ResumeInput extends ChildInput {
  readonly credentials?: 'none'
}

const { credentials } = aimedChild<ResumeInput>()
const client = credentials === 'none' ? createClient() : resumableClient()
const report = await client.resume()
const left = []
for await (const { status, reason } of client.operations({ status: 'pending' })) left.push({ status, reason })
say('resumed', { report, left })
await client.close()
process.exit()
