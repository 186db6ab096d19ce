const { tellStory } = require('./story.cjs')

tellStory(require('holdfast'), require('holdfast/sqlite'))
