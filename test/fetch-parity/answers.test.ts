import { answerCases } from './all-cases.ts'
import { compareInNode } from './support/compare-in-node.ts'

compareInNode(answerCases)
