import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { retry } from '@octokit/plugin-retry'
import { Octokit } from '@octokit/rest'
import { dynamodbOn } from './snippets/dynamodb.ts'
import { octokitOn } from './snippets/octokit.ts'
import { supabaseOn } from './snippets/supabase.ts'
import type { FetchOwner } from './support/cell.ts'
import { grid } from './support/grid.ts'

const issue = { answer: () => ({ status: 201, body: { number: 7 } }), gives: 7 }
const rows = { answer: () => ({ status: 201, body: [{ id: 1 }] }), gives: [{ id: 1 }] }
const stored = { answer: () => ({ body: {} }), gives: 200 }

const repository = { owner: 'holdfast', repo: 'holdfast' }
const put = new PutItemCommand({ TableName: 'orders', Item: { id: { S: '42' } } })

async function open(octokit: Octokit): Promise<number> {
  return (await octokit.rest.issues.create({ ...repository, title: 'It hangs' })).data.number
}

async function read(octokit: Octokit): Promise<number> {
  return (await octokit.rest.issues.get({ ...repository, issue_number: 7 })).data.number
}

function retryingOctokit({ fetch }: FetchOwner): Octokit {
  const RetryingOctokit = Octokit.plugin(retry)
  return new RetryingOctokit({ request: { fetch }, retry: { retryAfterBaseValue: 10 } })
}

async function store(dynamodb: DynamoDBClient): Promise<unknown> {
  const { $metadata } = await dynamodb.send(put)
  return $metadata.httpStatusCode
}

function singleAttempt({ config }: DynamoDBClient): DynamoDBClient {
  return new DynamoDBClient({ requestHandler: config.requestHandler, maxAttempts: 1 })
}

const orders = (client: FetchOwner) => supabaseOn(client).from('orders')

grid([
  {
    title: 'POST without a key: all but Stripe',
    calls: {
      'an issue by Octokit': { call: (client) => open(octokitOn(client)), ...issue },
      'an insert by Supabase': {
        call: async (client) => (await orders(client).insert({ total: 5 }).select().throwOnError()).data,
        ...rows,
      },
    },
  },
  {
    title: 'POST: Octokit with 3 retries of its plugin',
    calls: { 'an issue by Octokit with retries': { call: (client) => open(retryingOctokit(client)), ...issue } },
  },
  {
    title: 'GET: Octokit, Supabase, ky, ofetch, axios, urql',
    calls: {
      'a read by Octokit': { call: (client) => read(octokitOn(client)), ...issue },
      'a select by Supabase without retries': {
        call: async (client) => (await orders(client).select().retry(false).throwOnError()).data,
        ...rows,
      },
    },
  },
  {
    title: 'GET: Supabase with its own 3 retries',
    calls: {
      'a select by Supabase': {
        call: async (client) => (await orders(client).select().throwOnError()).data,
        ...rows,
      },
    },
  },
  {
    title: 'POST: DynamoDB with its own 3 retries',
    calls: { 'an item of DynamoDB': { call: (client) => store(dynamodbOn(client)), ...stored } },
  },
  {
    title: 'POST: DynamoDB, on a client with `retry: false`',
    calls: {
      'an item of DynamoDB with retries of its own alone': {
        call: (client) => store(dynamodbOn(client)),
        options: { retry: false },
        ...stored,
      },
    },
  },
  {
    title: 'POST without a key: all but Stripe',
    calls: {
      'an item of DynamoDB without retries': { call: (client) => store(singleAttempt(dynamodbOn(client))), ...stored },
    },
  },
])
