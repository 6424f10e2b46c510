import { conversationsOf, everyCase } from "./every-way.js";

conversationsOf(everyCase);
