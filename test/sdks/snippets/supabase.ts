import { createClient } from '@supabase/supabase-js'
import type { FetchOwner } from '../support/cell.ts'

export function supabaseOn(client: FetchOwner) {
  const supabase = createClient('https://project.supabase.co', 'publishable-key', { global: { fetch: client.fetch } })
  return supabase
}
