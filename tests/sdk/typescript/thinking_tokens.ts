// The limit of thinking tokens, changed the old way.
import { Conversation, succeeded } from "./engine.ts";

const conversation = new Conversation();
succeeded(await conversation.turn("Think as you like."), "1");
await conversation.query.setMaxThinkingTokens(2000);
succeeded(await conversation.turn("Think a little."), "2");
await conversation.query.setMaxThinkingTokens(0);
succeeded(await conversation.turn("Do not think."), "3");
await conversation.query.setMaxThinkingTokens(null);
succeeded(await conversation.turn("As you like again."), "4");
await conversation.end();
