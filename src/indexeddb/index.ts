export { type IndexedDbJournalOptions, indexedDbJournal } from '../client/journal/indexeddb/indexeddb-journal.ts'
