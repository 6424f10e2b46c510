import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";
import type { MemoryLink as Linked, Memory } from "../api-types.js";
import { MemoryLink } from "../parts/texts.js";
import { hrefOf, type Params } from "../place.js";

const [width, mostNodes, mostLabel] = [560, 30, 22];

interface Node extends SimulationNodeDatum {
  readonly id: string;
  readonly text: string;
}

/** The memories around one, nearer where the link is stronger; the same as a list below, for who does not see it. */
export function LinksGraph({
  memory,
  links,
  whose,
}: {
  readonly memory: Memory;
  readonly links: readonly Linked[];
  readonly whose: Params;
}) {
  const drawn = links.slice(0, mostNodes);
  const height = drawn.length <= 2 ? 120 : drawn.length <= 8 ? 220 : 320;
  const { center, nodes } = layOut(memory, drawn, height);
  return (
    <>
      <svg
        class="graph"
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label="Memories that it is linked with"
      >
        {nodes.map((node, place) => (
          <line
            key={node.id}
            {...{ x1: center.x, y1: center.y, x2: node.x, y2: node.y }}
            stroke-width={1 + 3 * (drawn[place]?.strength ?? 0)}
          />
        ))}
        {nodes.map((node) => (
          <a key={node.id} href={hrefOf({ view: "memory", params: { ...whose, id: node.id } })}>
            <title>{node.text.slice(0, 500)}</title>
            <circle cx={node.x} cy={node.y} r={7} />
            <text x={node.x} y={(node.y ?? 0) + 20}>
              {shortened(node.text)}
            </text>
          </a>
        ))}
        <circle class="center" cx={center.x} cy={center.y} r={9} />
      </svg>
      <ol class="lines">
        {links.map((link) => (
          <li key={link.memory.id}>
            <span class="faint">{link.strength.toFixed(2)}</span>{" "}
            <MemoryLink id={link.memory.id} whose={whose} text={link.memory.text.slice(0, 200)} />
          </li>
        ))}
      </ol>
    </>
  );
}

function layOut(
  memory: Memory,
  links: readonly Linked[],
  height: number,
): { readonly center: Node; readonly nodes: readonly Node[] } {
  const center: Node = { id: memory.id, text: memory.text, fx: width / 2, fy: height / 2 };
  const nodes = links.map(({ memory: { id, text } }): Node => ({ id, text }));
  const simulation = forceSimulation([center, ...nodes])
    .force("charge", forceManyBody().strength(-260))
    .force("collide", forceCollide(34))
    .force("x", forceX(width / 2).strength(0.03))
    .force("y", forceY(height / 2).strength(0.14))
    .force(
      "link",
      forceLink(
        nodes.map((node, place) => ({ source: center, target: node, strength: links[place]?.strength ?? 0 })),
      ).distance(({ strength }) => 60 + 140 * (1 - strength)),
    )
    .stop();
  simulation.tick(150);
  for (const node of nodes) {
    node.x = Math.max(60, Math.min(width - 60, node.x ?? 0));
    node.y = Math.max(12, Math.min(height - 24, node.y ?? 0));
  }
  return { center: { ...center, x: width / 2, y: height / 2 }, nodes };
}

function shortened(text: string): string {
  const characters = Array.from(text);
  return characters.length <= mostLabel ? text : `${characters.slice(0, mostLabel - 1).join("")}…`;
}
