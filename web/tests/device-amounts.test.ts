import { describe, expect, test } from "vitest";
import {
  deviceAmount,
  devicePairs,
  deviceRoom,
  deviceStops,
  withDevices,
} from "@/features/sessions/launcher/device-amounts";

const usual = { quantum: 1, allowed: [] };
const WHOLE = { name: "cuda.device", family: "cuda", type: "count" as const, ...usual };
const SHARES = { name: "cuda.shares", family: "cuda", type: "shares" as const, ...usual, quantum: 250 };
const GAUDI = { ...WHOLE, name: "gaudi3.device", family: "gaudi3", allowed: [1, 2, 4, 8] };
const KINDS = [WHOLE, SHARES, GAUDI];
const PAIR = { whole: WHOLE, shares: SHARES };
const room = (now: number, most: number) => ({ now, most, by: "the largest node" });
const ROOMS = { "cuda.device": room(1, 3), "cuda.shares": room(1500, 3000), "gaudi3.device": room(8, 8) };

describe("devices of which there are whole ones and shares", () => {
  test("are one choice, in steps that exist", () => {
    expect(devicePairs(KINDS, Object.keys(ROOMS))).toEqual([PAIR]);
    expect(devicePairs(KINDS, ["cuda.device"])).toEqual([]);
    expect(deviceStops(PAIR, ROOMS)).toEqual([0, 250, 500, 750, 1000, 2000, 3000]);
  });

  test("are parts below one device, if a limit allows no whole one", () => {
    const rooms = { "cuda.device": room(0, 0), "cuda.shares": room(500, 500) };
    expect(deviceStops(PAIR, rooms)).toEqual([0, 250, 500]);
    expect(deviceRoom(PAIR, rooms, 0)?.most).toBe(500);
  });

  test("are requested as whole ones or shares, by the amount", () => {
    const slots = { cpu: 1000, "cuda.shares": 500, "gaudi3.device": 4 };
    expect(deviceAmount(PAIR, slots)).toBe(500);
    expect(withDevices(PAIR, slots, 2000, KINDS)).toEqual({
      cpu: 1000,
      "gaudi3.device": 4,
      "cuda.device": 2,
    });
    expect(withDevices(PAIR, { "cuda.device": 2 }, 1500, KINDS)).toEqual({ "cuda.shares": 1500 });
    expect(withDevices(PAIR, { "cuda.device": 2 }, 0, KINDS)).toEqual({ "cuda.device": 0 });
  });

  test("show what is available of what is requested, in one unit", () => {
    expect(deviceRoom(PAIR, ROOMS, 2000)?.now).toBe(1000);
    expect(deviceRoom(PAIR, ROOMS, 500)?.now).toBe(1500);
  });
});
