import { octokitOn } from '../snippets/octokit.ts'
import { callInChild } from './child-call.ts'

const issue = { owner: 'holdfast', repo: 'holdfast', title: 'It hangs' }

await callInChild((client) => octokitOn(client).rest.issues.create(issue))
