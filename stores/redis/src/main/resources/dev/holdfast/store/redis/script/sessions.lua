local function open(ttl, nonce, client, label)
  add()
  local s = { live = true, epoch = NONE, ttl = tonumber(ttl), client = client, slots = 15, label = label }
  s.id = format('%.0f.%s', nextnumber(), nonce)
  s.ends = now + s.ttl
  sessions[s.id] = s
  writesession(s)
  endat(s.ends, 's' .. s.id)
  return { 'O', s.id, s.ttl }
end

local function keepalive(sid, epoch)
  local no = refusal(sid, epoch)
  if no then
    return no
  end
  local s = session(sid)
  s.epoch, s.ends = epoch, now + s.ttl
  writesession(s)
  endat(s.ends, 's' .. sid)
  return 'L'
end

local function retire(sid)
  local s = session(sid)
  if not hasended(s) then
    s.epoch = '9223372036854775807'
    writesession(s)
  end
  return 'D'
end

local function close(sid)
  local s = session(sid)
  if not hasended(s) then
    local touched = {}
    sweepsession(sid, SWEEP_LIMIT, touched)
    for _, res in ipairs(touched) do
      settle(res)
    end
  end
  return 'D'
end
