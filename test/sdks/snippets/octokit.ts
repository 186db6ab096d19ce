import { Octokit } from '@octokit/rest'
import type { FetchOwner } from '../support/cell.ts'

export function octokitOn(client: FetchOwner): Octokit {
  const octokit = new Octokit({ auth: process.env.GITHUB_TOKEN, request: { fetch: client.fetch } })
  return octokit
}
