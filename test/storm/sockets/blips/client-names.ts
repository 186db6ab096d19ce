/** Apart from the clients themselves: the report needs the names only, and loads none of these packages. */
export const CLIENT_NAMES = ['Holdfast', 'ky, 4 retries', 'axios-retry, 4 retries', 'got', 'p-retry + fetch'] as const
