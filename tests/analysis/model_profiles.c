#include "model_profiles.h"

static wl_error err;

prof_db *model_profile_of(cap_record module, const char *device, void (*tell)(prof_builder *))
{
    prof_builder *builder = story_begin(MODEL_PROFILE);
    cap_record on = story_device();
    on.device.file = device;
    const cap_record head[] = {story_process("/src/app"), on, module,
                               story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
                               story_object(1, 1, 0x7f0000000000, 4096)};
    story_tell(builder, head, sizeof head / sizeof *head);
    tell(builder);
    return story_finish(builder, MODEL_PROFILE);
}

prof_db *model_profile(const char *device, void (*tell)(prof_builder *))
{
    return model_profile_of(story_module(1), device, tell);
}

void model_launches(prof_builder *builder)
{
    for (uint32_t i = 1; i <= 3; i++) {
        cap_record launch = story_launch(i, 0, 0x7f0000000000);
        story_expect(prof_add(builder, &launch, &err), &err);
    }
}

double model_figure(cuda_figure_key key)
{
    static cuda_device d;
    if (!d.id[0])
        assert_int_equal(cuda_device_load("h200", &d, &err), WL_OK);
    return d.measured.figures[key].value;
}

cap_record model_launch_without_maps(uint32_t id)
{
    cap_record launch = story_launch(id, 0, 0x7f0000000000);
    launch.launch.summary.nheats = launch.launch.summary.nsamples = 0;
    return launch;
}

void model_second_without_maps(prof_builder *builder)
{
    cap_record first = story_launch(1, 0, 0x7f0000000000), second = model_launch_without_maps(2);
    story_expect(prof_add(builder, &first, &err), &err);
    story_expect(prof_add(builder, &second, &err), &err);
}

void model_launch_too_large(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.dynamic_shared = 1 << 20;
    story_expect(prof_add(builder, &launch, &err), &err);
}
