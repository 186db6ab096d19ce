import * as holdfast from 'holdfast'
import * as sqlite from 'holdfast/sqlite'
import * as testing from 'holdfast/testing'
import { tellStory } from './story.cjs'

await tellStory(holdfast, sqlite, testing)
