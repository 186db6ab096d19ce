export { readRetention } from './header-names.ts'
