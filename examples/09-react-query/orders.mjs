// All that this shop needs to know of Holdfast and TanStack Query together.
import { QueryClient } from '@tanstack/react-query'
import { createClient } from 'holdfast'

/** What the mutations of this shop are found by. */
export const ORDER = ['order']

export function openOrders() {
  const client = createClient({
    onGiveUp: 'keep', // an order goes on when its page stops waiting: the next page finds it in the journal
    deadline: '5m',
    retry: { base: 300, cap: '2s', jitter: 'equal', maxAttempts: 100 },
    budget: { burst: 200 }, // the server is down on purpose
  })
  const queries = new QueryClient()

  queries.setMutationDefaults(ORDER, {
    // The id names the order. Asked for again, after a double click or a reload, it is still the same one.
    mutationFn: (order) =>
      client.post('/orders', { id: `order:${order.number}`, name: 'order', metadata: order, json: order }).json(),
    retry: false, // Holdfast retries, with one key
    networkMode: 'always', // and waits for the network, with the order on disk
  })

  return { client, queries, restored: restoreMutations(client, queries) }
}

/** Each operation that an earlier page left behind is a mutation again, pending as it was. */
async function restoreMutations(client, queries) {
  for await (const { name, metadata } of client.operations({ status: 'pending' })) {
    if (name !== 'order') continue
    const mutation = queries.getMutationCache().build(queries, { mutationKey: ORDER })
    // How it ends is shown by what shows the mutation.
    mutation.execute(metadata).catch(() => {})
  }
  client.resume({ continuous: true }).catch(console.error)
}
