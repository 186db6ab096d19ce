import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { FetchHttpHandler } from '@smithy/fetch-http-handler'
import type { FetchOwner } from '../support/cell.ts'

export function dynamodbOn(client: FetchOwner): DynamoDBClient {
  const dynamodb = new DynamoDBClient({ requestHandler: new FetchHttpHandler({ customFetch: client.fetch }) })
  return dynamodb
}
