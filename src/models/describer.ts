import type { ContentBlock } from "@langchain/core/messages";
import { withDeadline } from "../deadline.js";
import { MemoryError } from "../errors.js";
import { errorLine, type Logger } from "../logger.js";
import { type Attachment, sourceOf } from "../messages/attachments.js";

export type Describe = (part: ContentBlock.Multimodal.Standard) => Promise<string>;

/**
 * Captions by `sourceOf`, asked for all at once; none for a file whose caption fails or is late.
 */
export type Describer = (
  files: readonly Attachment[],
  threadId: string,
) => Promise<ReadonlyMap<string, string>>;

/** The user's function with a deadline. Null without one. */
export function createDescriber(
  describe: Describe | undefined,
  timeoutMs: number,
  logger: Logger,
): Describer | null {
  if (!describe) return null;
  const ask = async (file: Attachment): Promise<string> => {
    const caption: unknown = await describe(file as never);
    if (typeof caption === "string") return caption;
    throw new MemoryError(
      "MODEL_FAILED",
      `\`describe\` must return text; it returned ${typeof caption}.`,
    );
  };
  return async (files, threadId) => {
    const captions = new Map<string, string>();
    const unique = [...new Map(files.map((file) => [sourceOf(file), file]))];
    const asked = unique.map(([source, file]) =>
      withDeadline(timeoutMs, () => ask(file)).then(
        (caption) => void captions.set(source, caption),
        (error: unknown) => {
          const fields = { threadId, step: "remember" };
          logger.warn(
            `${file.type} in ${threadId} is recorded without a caption: ${errorLine(error)}`,
            fields,
          );
        },
      ),
    );
    await Promise.all(asked);
    return captions;
  };
}
