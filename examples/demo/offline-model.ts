import { OfflineChatModel } from "mnemograph/testing";

// The model that recorded promises.answers.json: npx @mnemograph/server eval
// examples/demo/promises.yaml --model examples/demo/offline-model.ts --record
// examples/demo/promises.answers.json
export default new OfflineChatModel();
